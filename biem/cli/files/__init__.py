"""Commands on memories as files, and on the projects that have them."""

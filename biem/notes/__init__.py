"""Notes: a folder of Markdown files as knowledge that can be searched."""

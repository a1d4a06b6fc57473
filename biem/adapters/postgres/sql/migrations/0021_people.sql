-- All scopes of a user are found by name, so that a person can be erased without knowing the projects.
CREATE INDEX scopes_names ON scopes (tenant, usr, project);

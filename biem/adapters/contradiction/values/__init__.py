"""Values of attributes, and whether a newer one replaces an older one."""

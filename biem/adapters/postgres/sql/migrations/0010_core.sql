-- Core memories are told with every context block: finding the few of a scope must not read the scope (C31).
CREATE INDEX memories_core ON memories (ns, importance DESC, write_seq DESC) WHERE layer = 'core';

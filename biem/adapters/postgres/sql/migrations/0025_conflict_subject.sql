-- Whose and what both memories of a conflict speak of, where that was established: a rule acts on nothing else.
ALTER TABLE conflicts ADD COLUMN subject text NOT NULL DEFAULT '';

-- As conflict_pairs, with the subject. That view stays as it is, because the previous release reads it by position.
CREATE VIEW conflict_records WITH (security_invoker = true) AS
SELECT c.id, c.ns, c.kind, c.older_id, c.newer_id, o.text AS older_text, n.text AS newer_text, c.confidence, c.rule,
    c.attribute, c.status, c.resolution, c.decided_by, c.merged_id, c.created_at, c.resolved_at,
    c.status = 'pending' AND (o.status = 'archived' OR n.status = 'archived' OR o.superseded_by IS NOT NULL
        OR n.superseded_by IS NOT NULL) AS moot,
    c.suspected, c.plan, c.subject
FROM conflicts c JOIN memories o ON o.id = c.older_id JOIN memories n ON n.id = c.newer_id;
GRANT SELECT ON conflict_records TO biem_service;

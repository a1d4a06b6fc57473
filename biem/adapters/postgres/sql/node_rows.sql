-- Parts of other statements: `{node}`, `{where}`, `{terms}`, `{listed}`, `{core}`, `{written}` and `{said}` stand for
-- these blocks.

-- node: the columns a Node is made of, in the order of adapters/postgres/records.py
m.id::text, m.ns, m.text, m.kind, m.status, m.layer, m.tags, m.reason, m.importance, m.source, m.speaker,
m.conversation, m.at, m.created_at, m.ref, m.metadata, m.language, m.fields, m.entities, m.sentiment, m.write_seq,
m.energy_anchor, m.anchor_at, m.access_count, m.useful_count, m.accessed_at, m.evidence_sha, m.tier, m.valid_from,
m.valid_to, m.superseded_by::text, m.archived_at, m.archive_reason, m.initial_energy, m.lexemes, m.revision,
m.revised_at, m.expires_at, m.on_expiry, m.origin, m.trust

-- where: those of a search: memories that a caller may be given now, and that meet the conditions
{terms}
AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
AND (%(talk)s::text IS NULL OR m.layer <> 'session' OR m.conversation IN ('', %(talk)s) OR %(conversations)s::text[] IS NOT NULL)

-- terms: a caller's conditions on memories m; a null means any
(%(kinds)s::text[] IS NULL OR m.kind = ANY (%(kinds)s))
AND (%(speakers)s::text[] IS NULL OR m.speaker = ANY (%(speakers)s))
AND (%(conversations)s::text[] IS NULL OR m.conversation = ANY (%(conversations)s))
AND (%(not_conversations)s::text[] IS NULL OR m.conversation <> ALL (%(not_conversations)s))
AND (%(not_ids)s::uuid[] IS NULL OR m.id <> ALL (%(not_ids)s))
AND (%(only_ids)s::uuid[] IS NULL OR m.id = ANY (%(only_ids)s))
AND m.tags @> %(tags)s
AND (%(since)s::timestamptz IS NULL OR m.at >= %(since)s)
AND (%(until)s::timestamptz IS NULL OR m.at < %(until)s)
AND (%(as_of)s::timestamptz IS NULL
    OR m.valid_from <= %(as_of)s AND (m.kind = 'event' OR m.valid_to IS NULL OR m.valid_to > %(as_of)s)
        AND (m.revised_at IS NULL OR m.revised_at <= %(as_of)s))
AND (%(min_energy)s::double precision IS NULL
    OR energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s) >= %(min_energy)s)
AND (%(min_sentiment)s::real IS NULL OR m.sentiment >= %(min_sentiment)s::real)
AND (%(max_sentiment)s::real IS NULL OR m.sentiment <= %(max_sentiment)s::real)
AND (%(metadata)s::jsonpath IS NULL OR (m.metadata @@ %(metadata)s::jsonpath) IS TRUE)
AND (%(min_trust)s::smallint IS NULL OR m.trust >= %(min_trust)s::smallint)

-- listed: those of a list: expired memories count as archived, and those to be destroyed are there no more
CASE WHEN m.expires_at <= %(now)s THEN 'archived' ELSE m.status END = ANY (%(statuses)s::text[])
AND (m.expires_at <= %(now)s AND m.on_expiry = 'erase') IS NOT TRUE
AND (%(layer)s::text IS NULL OR m.layer = %(layer)s)
AND (%(tier)s::text IS NULL OR m.tier = %(tier)s)
AND (%(origins)s::text[] IS NULL OR m.origin = ANY (%(origins)s))
AND {terms}

-- core: believed memories that hold now or, with `as_of`, held then as they are
m.trust > 0
AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
AND (m.valid_to IS NULL OR m.valid_to > coalesce(%(as_of)s::timestamptz, %(now)s))
AND (%(as_of)s::timestamptz IS NULL
    OR m.valid_from <= %(as_of)s AND (m.revised_at IS NULL OR m.revised_at <= %(as_of)s))

-- written: a new memory; what follows says where `write_seq`, its place in the sequence, comes from
INSERT INTO memories (id, ns, ref, fact_key, text, evidence_sha, embed_sha, kind, layer, tags, reason, importance,
        source, speaker, conversation, at, created_at, metadata, lexemes, write_seq, initial_energy, energy_anchor, anchor_at,
        valid_from, due_at, origin, trust, expires_at, on_expiry, formed)
    SELECT %(id)s, %(ns)s, %(ref)s, %(fact_key)s, %(text)s, %(evidence_sha)s, %(embed_sha)s, %(kind)s, %(layer)s,
        %(tags)s, %(reason)s, %(importance)s, %(source)s, %(speaker)s, %(conversation)s, %(at)s, %(now)s, %(metadata)s,
        %(lexemes)s, write_seq, %(energy)s, %(energy)s, %(now)s, %(at)s, %(due_at)s,
        %(origin)s, %(trust)s, %(expires_at)s, %(on_expiry)s, %(trust)s > 0

-- said: what a new message changes in its session
next_seq = s.next_seq + 1, round = s.round + %(begins)s, messages = s.messages + 1, tokens = s.tokens + %(tokens)s,
    all_tokens = s.all_tokens + %(tokens)s, trim_at = CASE
        WHEN s.trim_at IS NULL AND s.tokens + %(tokens)s >= %(most)s THEN %(now)s ELSE s.trim_at END

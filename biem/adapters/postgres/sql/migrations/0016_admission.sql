-- A message may also be refused by a rule or by a language model, and says so.

ALTER TABLE gate_decisions
    DROP CONSTRAINT gate_decisions_form_check,
    ADD CONSTRAINT gate_decisions_form_check CHECK (form IN ('raw', 'centered', 'classifier', 'llm'));

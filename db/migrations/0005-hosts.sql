-- What the machine was when a trial began: topology, settings, noise, and where guests lay on it.
ALTER TABLE trial ADD COLUMN host_json TEXT NOT NULL DEFAULT '{}'
    CONSTRAINT "host_json is JSON" CHECK (json_valid(host_json));

-- What is odd about a cell's data: outliers, warm-up, drift, two modes. Computed with the verdict.
ALTER TABLE verdict ADD COLUMN notes_json TEXT NOT NULL DEFAULT '[]'
    CONSTRAINT "notes_json is JSON" CHECK (json_valid(notes_json));

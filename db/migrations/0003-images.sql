-- What a kernel's image is to the bit, and which variants need no boot because they are the base to
-- the bit.
ALTER TABLE kernel ADD COLUMN image_sha256 TEXT -- none where it was stored by an earlier ktrial
    CONSTRAINT "an image has a SHA-256 of 64 hex digits"
    CHECK (length(image_sha256) = 64 AND image_sha256 NOT GLOB '*[^0-9a-f]*');
ALTER TABLE variant ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0
    CONSTRAINT "a variant is left out or not" CHECK (left_out IN (0, 1));
CREATE INDEX kernel_by_image ON kernel (image_sha256);

"""Ready-made proposals that come with expctl: their files, and what reads them."""

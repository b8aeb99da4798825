"""What the tests share: prompts, what ask-user makes of them, and the judges of each service."""

"""Whether a rule fits what an agent says: its texts, its paths, and what a rule may say of them."""

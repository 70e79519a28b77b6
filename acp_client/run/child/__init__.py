"""What a run knows of its child before it speaks: how it is started, how deep it is, what it says beside the wire."""

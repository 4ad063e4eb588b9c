"""What the model is shown of a conversation: the prompt builder and the summaries."""

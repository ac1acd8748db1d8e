"""Questions to a language model behind an endpoint as OpenAI has it, each asked once and kept."""

"""What each stage of a pipeline did and was worth: tables, a flow and a document."""

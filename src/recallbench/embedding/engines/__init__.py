"""Which engine runs an encoder here, how texts are given to it, and the proof that its vectors are the encoder's."""

"""The password of the servers that tests start on TCP: one that needs quoting everywhere."""

PASSWORD = "it's a p@ss/word"

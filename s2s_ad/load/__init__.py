"""From text to a callable: exec, linecache, and the specialisation that fits the arguments."""

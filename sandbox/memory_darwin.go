package sandbox

// smallPages does nothing: macOS backs memory by small pages.
func smallPages([]byte) {}

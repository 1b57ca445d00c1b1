package scoring

// RequestOf is what the app's code is given.
func RequestOf(a *App, in Input) ([]byte, error) {
	b, _, err := a.request(in)
	return b, err
}

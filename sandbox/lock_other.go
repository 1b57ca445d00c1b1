//go:build !linux && !darwin

package sandbox

import "errors"

// lockDir is never reached: these platforms are interpreted, without a cache.
func lockDir(string, bool) (func(), error) { return nil, errors.ErrUnsupported }

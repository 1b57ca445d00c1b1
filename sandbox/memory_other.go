//go:build !linux && !darwin

package sandbox

type reservation = portableReservation

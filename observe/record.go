package observe

// recording shows how the recording goes.
func (s sink) recording(stats func() (written, lost int64)) {
	var written, lost int64
	if stats != nil {
		written, lost = stats()
	}
	s.add(&recorded, float64(written))
	s.add(&recordLost, float64(lost))
}

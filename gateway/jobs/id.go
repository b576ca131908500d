package jobs

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

var idText = base32.HexEncoding.WithPadding(base32.NoPadding)

// NewID returns the id of a job: ids sort by the millisecond in which they were made, and
// nobody can guess one.
func NewID(t time.Time) string {
	var b [20]byte
	binary.BigEndian.PutUint64(b[:8], uint64(t.UnixMilli())<<16)
	rand.Read(b[6:])
	return "job_" + idText.EncodeToString(b[:])
}

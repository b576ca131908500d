package onfile

import "encoding/json"

// Codec is how a store's values are written.
type Codec[T any] interface {
	// Append appends what v is in the file.
	Append(to []byte, v T) ([]byte, error)
	// Decode reads it. A file is input like any other: what makes no sense is an
	// error, and its entry is left out. b is the caller's again afterwards.
	Decode(b []byte) (T, error)
}

// JSON writes values as JSON.
func JSON[T any]() Codec[T] { return jsonCodec[T]{} }

type jsonCodec[T any] struct{}

func (jsonCodec[T]) Append(to []byte, v T) ([]byte, error) {
	b, err := json.Marshal(v)
	return append(to, b...), err
}

func (jsonCodec[T]) Decode(b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v)
	return v, err
}

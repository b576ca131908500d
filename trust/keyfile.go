package trust

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// KeyFile is a file of API keys. It holds no key, only what each hashes to: a
// key is 256 random bits, so that nobody finds it from its hash and no slow hash
// is needed.
type KeyFile struct {
	Version int     `json:"version"`
	Keys    []Entry `json:"keys"`
}

// Entry is one API key, as its file keeps it.
type Entry struct {
	// ID names the key where it is listed and revoked, and is part of it.
	ID string `json:"id"`
	// Name is whom it was given to: what a caller with it is called.
	Name string `json:"name"`
	// Tenant is whose requests its are; "": they are the name's own.
	Tenant string `json:"tenant,omitempty"`
	// Role bounds what it may claim; "": the role of all that are verified.
	Role string `json:"role,omitempty"`
	// Hash is SHA-256 of the key, in hexadecimal.
	Hash    string     `json:"sha256"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty"`
	Revoked *time.Time `json:"revoked,omitempty"`
}

// Bounds of a key file.
const (
	keysMost = 100_000 // by fileMax it is about 4,000; no more are ever taken
	nameMost = 128     // bytes of a name, tenant or role
)

// keyPrefix leads every key, so that whoever finds one knows what it is, as
// scanners for leaked secrets do.
const keyPrefix = "sw_"

// NewKey makes a key and its entry. The key is shown once and kept nowhere.
func NewKey(name, tenant, role string, now time.Time, expires *time.Time) (key string, e Entry) {
	id := strings.ToLower(rand.Text()[:8])
	var secret [32]byte
	rand.Read(secret[:]) // it never fails: see crypto/rand
	key = keyPrefix + id + "_" + base64.RawURLEncoding.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(key))
	return key, Entry{
		ID: id, Name: name, Tenant: tenant, Role: role,
		Hash: hex.EncodeToString(sum[:]), Created: now.UTC().Truncate(time.Second), Expires: expires,
	}
}

// ParseKeys reads a key file's content. Errors say which key is wrong.
func ParseKeys(content []byte) (*KeyFile, error) {
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	f := new(KeyFile)
	if err := d.Decode(f); err != nil {
		return nil, fmt.Errorf("not a key file: %w; make one with: spillway keys create", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not a key file: something follows its end; remove it")
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("a key file of version %d; this program reads version 1", f.Version)
	}
	return f, f.check()
}

func (f *KeyFile) check() error {
	if len(f.Keys) > keysMost {
		return fmt.Errorf("%d keys; at most %d", len(f.Keys), keysMost)
	}
	ids, hashes := make(map[string]bool, len(f.Keys)), make(map[string]bool, len(f.Keys))
	for i := range f.Keys {
		e := &f.Keys[i]
		if err := e.check(); err != nil {
			return fmt.Errorf("key %d: %w", i+1, err)
		}
		if ids[e.ID] || hashes[e.Hash] {
			return fmt.Errorf("key %d: %s is there twice; remove one", i+1, e.ID)
		}
		ids[e.ID], hashes[e.Hash] = true, true
	}
	return nil
}

func (e *Entry) check() error {
	if sum, err := hex.DecodeString(e.Hash); err != nil || len(sum) != sha256.Size || strings.ToLower(e.Hash) != e.Hash {
		return errors.New("sha256 is not 64 hexadecimal digits in small letters")
	}
	if e.ID == "" || len(e.ID) > nameMost || strings.ContainsFunc(e.ID, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		return errors.New("id is not made of small letters and digits")
	}
	return CheckNames(e.Name, e.Tenant, e.Role)
}

// CheckNames returns what is wrong with a key's names: they stand in metrics,
// logs and headers.
func CheckNames(name, tenant, role string) error {
	for _, n := range []struct {
		what, text string
		needed     bool
	}{{"name", name, true}, {"tenant", tenant, false}, {"role", role, false}} {
		switch {
		case n.needed && n.text == "":
			return fmt.Errorf("%s is missing; say whom the key is for", n.what)
		case len(n.text) > nameMost:
			return fmt.Errorf("%s is longer than %d bytes", n.what, nameMost)
		case !utf8.ValidString(n.text) || strings.ContainsFunc(n.text, func(r rune) bool { return !unicode.IsPrint(r) }):
			return fmt.Errorf("%s holds what cannot be printed", n.what)
		}
	}
	return nil
}

// LoadKeys reads a key file.
func LoadKeys(path string) (*KeyFile, error) {
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	f, err := ParseKeys(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// LoadOrNewKeys is LoadKeys, and an empty file where there is none yet.
func LoadOrNewKeys(path string) (*KeyFile, error) {
	f, err := LoadKeys(path)
	if errors.Is(err, os.ErrNotExist) {
		return &KeyFile{Version: 1, Keys: []Entry{}}, nil
	}
	return f, err
}

// Save writes the file, whole or not at all, readable by its owner alone.
func (f *KeyFile) Save(path string) error {
	if err := f.check(); err != nil {
		return err
	}
	content, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, append(content, '\n'))
}

// Revoke marks the key of that id as revoked. It reports whether there is one
// that was not.
func (f *KeyFile) Revoke(id string, now time.Time) bool {
	for i := range f.Keys {
		if e := &f.Keys[i]; e.ID == id && e.Revoked == nil {
			at := now.UTC().Truncate(time.Second)
			e.Revoked = &at
			return true
		}
	}
	return false
}

// State says what the key is worth at an instant: valid, expired or revoked.
func (e *Entry) State(now time.Time) string {
	switch e.failure(now) {
	case Revoked:
		return "revoked"
	case Expired:
		return "expired"
	}
	return "valid"
}

func (e *Entry) failure(now time.Time) Failure {
	switch {
	case e.Revoked != nil:
		return Revoked
	case e.Expires != nil && !now.Before(*e.Expires):
		return Expired
	}
	return Held
}

package trust

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// fileMax bounds a file that is read: thousands of keys, and nothing that is
// named by mistake.
const fileMax = 1 << 20

// readFile reads a regular file within bounds.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path)
}

func readAll(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, fileMax+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > fileMax:
		return nil, fmt.Errorf("%s is larger than 1 MiB", name)
	}
	return b, nil
}

// replaceFile writes a file whole or not at all, readable by its owner alone.
// Its new content is at PATH.new first, which also keeps a second writer out.
func replaceFile(path string, content []byte) (err error) {
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists: another change is under way; try again, or remove it if none is", temp)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(temp)
		}
	}()
	if _, err = f.Write(content); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

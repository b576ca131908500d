// Package lines reads the lines of a file from elsewhere: gzip is recognised, a
// byte order mark dropped, a line bounded in length.
package lines

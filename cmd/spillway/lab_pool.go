package main

import "github.com/spf13/cobra"

func newLabPool() *cobra.Command   { return newLabLater("pool", "x", "y") }
func newLabVerify() *cobra.Command { return newLabLater("verify", "x", "y") }

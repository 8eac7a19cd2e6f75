package main

import (
	"errors"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/cert"
)

// writeCertificate makes tls.crt and tls.key for this machine's loopback address. One pair serves everything: the API
// server, the kubelet, and the key of the service accounts.
func writeCertificate(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("name the folder")
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(arguments[0], "tls.crt"), certificate, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(arguments[0], "tls.key"), key, 0o600)
}

// Both ends of an upload over QUIC by quic-go: `upload receive PORT` and `upload send HOST PORT`.
//
// The sender opens one stream and writes to it until it is ended. The receiver reads and discards. Its certificate is made when it starts, and the
// sender does not check it: both are in network namespaces of one emulation.
package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"time"

	"github.com/quic-go/quic-go"
)

const alpn = "upload"

// Longest silence: the receiver is there before the sender.
var settings = &quic.Config{MaxIdleTimeout: 10 * time.Minute}

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "receive":
		err = receive(args[1])
	case len(args) == 3 && args[0] == "send":
		err = send(net.JoinHostPort(args[1], args[2]))
	default:
		log.Fatal("upload receive PORT | upload send HOST PORT")
	}
	log.Fatal(err)
}

// receive reads every stream of every connection.
func receive(port string) error {
	certificate, err := certificate()
	if err != nil {
		return err
	}
	secrets := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{alpn}}
	listener, err := quic.ListenAddr(net.JoinHostPort("0.0.0.0", port), secrets, settings)
	if err != nil {
		return err
	}
	for {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			for {
				stream, err := connection.AcceptUniStream(context.Background())
				if err != nil {
					return
				}
				go io.Copy(io.Discard, stream)
			}
		}()
	}
}

// send writes to one stream.
func send(to string) error {
	secrets := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{alpn}}
	connection, err := quic.DialAddr(context.Background(), to, secrets, settings)
	if err != nil {
		return err
	}
	stream, err := connection.OpenUniStream()
	if err != nil {
		return err
	}
	for chunk := make([]byte, 1<<16); ; {
		if _, err := stream.Write(chunk); err != nil {
			return err
		}
	}
}

// certificate is one that the receiver has signed itself.
func certificate() (tls.Certificate, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, form, form, public, private)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: private}, err
}

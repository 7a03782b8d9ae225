// Buys the pages whose addresses it is given with the x402 foundation's client, and prints a line of JSON about each.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"

	x402 "github.com/x402-foundation/x402/go/v2"
	x402http "github.com/x402-foundation/x402/go/v2/http"
	exact "github.com/x402-foundation/x402/go/v2/mechanisms/evm/exact/client"
	"github.com/x402-foundation/x402/go/v2/signers/evm"
)

func main() {
	signer, err := evm.NewClientSignerFromPrivateKey(os.Getenv("BUYER_PRIVATE_KEY"))
	check(err)
	client := x402.Newx402Client()
	client.Register("eip155:*", exact.NewExactEvmScheme(signer, nil))
	paying := x402http.WrapHTTPClientWithPayment(http.DefaultClient, x402http.Newx402HTTPClient(client))
	for _, url := range os.Args[1:] {
		answer, err := paying.Get(url)
		if err != nil {
			say(0, err.Error(), "")
			continue
		}
		page, err := io.ReadAll(answer.Body)
		check(err)
		say(answer.StatusCode, string(page), answer.Header.Get("PAYMENT-RESPONSE"))
	}
}

func say(status int, page string, receipt string) {
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"status": status, "page": page, "receipt": receipt}))
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

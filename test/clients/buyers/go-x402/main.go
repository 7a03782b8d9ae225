// Buys the page whose address it is given with the x402 foundation's client, and prints what came of it as JSON.
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
	answer, err := paying.Get(os.Args[1])
	check(err)
	page, err := io.ReadAll(answer.Body)
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status": answer.StatusCode, "page": string(page), "receipt": answer.Header.Get("PAYMENT-RESPONSE"),
	}))
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

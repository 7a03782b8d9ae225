// Buys the page whose address it is given with the x402 client of mark3labs, and prints what came of it as JSON.
package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/mark3labs/x402-go"
	x402http "github.com/mark3labs/x402-go/http"
	"github.com/mark3labs/x402-go/signers/evm"
)

func main() {
	token := x402.NewUSDCTokenConfig(x402.BaseSepolia, 1)
	signer, err := evm.NewSigner(
		evm.WithPrivateKey(os.Getenv("BUYER_PRIVATE_KEY")),
		evm.WithNetwork("base-sepolia"),
		evm.WithToken(token.Address, token.Symbol, token.Decimals),
	)
	check(err)
	client, err := x402http.NewClient(x402http.WithSigner(signer))
	check(err)
	answer, err := client.Get(os.Args[1])
	check(err)
	page, err := io.ReadAll(answer.Body)
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status": answer.StatusCode, "page": string(page), "receipt": answer.Header.Get("X-PAYMENT-RESPONSE"),
	}))
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

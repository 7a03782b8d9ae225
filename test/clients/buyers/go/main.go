// Buys the pages whose addresses it is given with the x402 client of mark3labs, and prints a line of JSON about each.
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
	for _, url := range os.Args[1:] {
		answer, err := client.Get(url)
		if err != nil {
			say(0, err.Error(), "")
			continue
		}
		page, err := io.ReadAll(answer.Body)
		check(err)
		say(answer.StatusCode, string(page), answer.Header.Get("X-PAYMENT-RESPONSE"))
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

module buyer

go 1.25.1

require github.com/x402-foundation/x402/go/v2 v2.21.0

module buyer

go 1.25.1

require github.com/mark3labs/x402-go v0.13.0

// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @notice The part of EIP-3009 the router uses: the overload with `bytes`, which serves keys and ERC-1271 wallets alike.
interface IERC3009 {
    /// @dev Succeeds at most once per (from, nonce), and only while validAfter < block.timestamp < validBefore.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}

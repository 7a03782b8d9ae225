// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @notice Legs: who gets which part of a payment. A leg is one word, `uint96 weight << 160 | address wallet`.
/// The twin of modules/kernel/money/legs.ts: weight descending, then address ascending; leg i >= 1 gets floor(value * w_i / sum(w)),
/// leg 0 the rest, so that amounts always sum to the value.
library Legs {
    uint256 internal constant MAX_LEGS = 50;

    /// @dev The list is empty, longer than 50, out of order, or the leg at `index` is one that may not be paid.
    error NotCanonical(uint256 index);

    function wallet(bytes32 leg) internal pure returns (address) {
        return address(uint160(uint256(leg)));
    }

    function weight(bytes32 leg) internal pure returns (uint256) {
        return uint256(leg) >> 160;
    }

    /// @notice The salt a split's address comes from.
    function salt(bytes32[] calldata legs) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(legs));
    }

    /// @notice Reverts unless `legs` are canonical: 1 to 50, ordered, every weight at least 1, no wallet twice, and none of
    /// them zero, the router or the split itself. (That the weights share no divisor is not needed for safety.)
    function requireCanonical(bytes32[] calldata legs, address router, address split) internal pure {
        uint256 count = legs.length;
        if (count == 0 || count > MAX_LEGS) revert NotCanonical(count);
        for (uint256 i = 0; i < count; ++i) {
            address payee = wallet(legs[i]);
            if (weight(legs[i]) == 0 || payee == address(0) || payee == router || payee == split) revert NotCanonical(i);
            if (i > 0 && !_precedes(legs[i - 1], legs[i])) revert NotCanonical(i);
            for (uint256 j = 0; j < i; ++j) {
                if (wallet(legs[j]) == payee) revert NotCanonical(i);
            }
        }
    }

    /// @notice Sum of the weights; reverts when the asset itself is a leg, whatever the split.
    function totalWeight(bytes32[] calldata legs, address asset) internal pure returns (uint256 total) {
        unchecked {
            // Weights are below 2^96, and call data is far too short for 2^160 of them.
            for (uint256 i = 0; i < legs.length; ++i) {
                bytes32 leg = legs[i];
                if (wallet(leg) == asset) revert NotCanonical(i);
                total += weight(leg);
            }
        }
    }

    /// @notice Adds each leg's part of `value` to `amounts`.
    function share(bytes32[] calldata legs, uint256 total, uint256 value, uint256[] memory amounts) internal pure {
        uint256 rest = value;
        unchecked {
            // Parts of a value never sum to more than it, and the caller adds up the values of a group with a check.
            for (uint256 i = 1; i < legs.length; ++i) {
                uint256 part = _part(value, weight(legs[i]), total);
                amounts[i] += part;
                rest -= part;
            }
            amounts[0] += rest;
        }
    }

    /// @dev floor(value * w / total). A weight is below 2^96, so any value below 2^160 multiplies without overflow, at less gas.
    function _part(uint256 value, uint256 w, uint256 total) private pure returns (uint256) {
        if (value >> 160 != 0) return Math.mulDiv(value, w, total);
        unchecked {
            return (value * w) / total;
        }
    }

    function _precedes(bytes32 a, bytes32 b) private pure returns (bool) {
        return weight(a) > weight(b) || (weight(a) == weight(b) && wallet(a) < wallet(b));
    }
}

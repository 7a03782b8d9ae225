// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @notice Code behind every legs split (an ERC-1167 clone). It has no storage and no owner: the address of a clone commits
/// to its legs, and the router, which alone may call `push`, re-derives that address from the legs it passes.
contract LegSplit {
    using SafeERC20 for IERC20;

    /// @notice The only caller `push` accepts; part of the code, hence the same for all clones.
    address public immutable ROUTER;

    error OnlyRouter();

    constructor() {
        ROUTER = msg.sender;
    }

    /// @notice Pays `amounts[i]` to the wallet of `legs[i]`, each at most once; an amount of 0 makes no transfer. All or nothing.
    function push(IERC20 token, bytes32[] calldata legs, uint256[] calldata amounts) external {
        if (msg.sender != ROUTER) revert OnlyRouter();
        for (uint256 i = 0; i < legs.length; ++i) {
            uint256 amount = amounts[i];
            if (amount != 0) token.safeTransfer(address(uint160(uint256(legs[i]))), amount);
        }
    }
}

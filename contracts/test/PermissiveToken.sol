// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @notice A token without EIP-3009 whose fallback accepts every call and moves nothing (the way of WETH): a pull "succeeds".
contract PermissiveToken {
    mapping(address account => uint256) public balanceOf;

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        return true;
    }

    fallback() external payable {}

    receive() external payable {}
}

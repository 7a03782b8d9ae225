// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @notice An ERC-1271 wallet of one owner. `GAS_TO_BURN` makes it a hostile one: valid, but dear to ask.
contract TestWallet is IERC1271 {
    address public immutable OWNER;
    uint256 public immutable GAS_TO_BURN;

    constructor(address owner, uint256 gasToBurn) {
        OWNER = owner;
        GAS_TO_BURN = gasToBurn;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        uint256 start = gasleft();
        bytes32 spin = hash;
        while (start - gasleft() < GAS_TO_BURN) spin = keccak256(abi.encode(spin));
        (address signer, ECDSA.RecoverError failure, ) = ECDSA.tryRecoverCalldata(hash, signature);
        bool valid = failure == ECDSA.RecoverError.NoError && signer == OWNER && spin != bytes32(0);
        return valid ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC3009} from "./IERC3009.sol";
import {Legs} from "./Legs.sol";
import {LegSplit} from "./LegSplit.sol";

/// @notice Settles signed EIP-3009 payments to authors. No owner, no storage, no upgrade; never holds a token. Anyone may
/// call anything: the `to` a buyer signed is either one wallet or a split whose address is derived from its legs, so no
/// caller can choose who is paid.
contract SplitRouter {
    using Legs for bytes32[];

    /// @notice One signed payment. `to` is not here: it follows from the legs of the group.
    struct Auth {
        address from;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
        bytes signature;
    }

    /// @notice Payments that share one payTo. `authGas` caps each token call: an ERC-1271 payer is foreign code on our gas.
    struct Group {
        address token;
        uint256 authGas;
        bytes32[] legs;
        Auth[] auths;
    }

    /// @notice Code behind every split, made by this router's constructor: one CREATE2 deployment installs both.
    address public immutable IMPLEMENTATION;

    /// @dev Gas that must remain beside what a capped call is given.
    uint256 private constant RESERVE_GAS = 5000;
    /// @dev What `flushAround` gives the payment of one leg: several times what USDC takes for a wallet that never held it.
    uint256 private constant LEG_GAS = 200_000;
    bytes4 private constant OK = 0x00000000;
    /// @dev `why` of a group that reverted without a word, as running out of gas does.
    bytes4 private constant OUT_OF_GAS = 0xffffffff;

    /// @notice `total` of `token` left the split `payTo` for its authors. (A payment to one wallet leaves only the token's own
    /// events: the router does nothing there that it could vouch for.)
    event Paid(address indexed payTo, address indexed token, uint256 total);
    /// @notice One payment of a group moved nothing; `why` holds the first 4 bytes of the revert. Decides nothing by itself.
    event ItemFailed(uint256 indexed group, uint256 indexed item, bytes4 why);
    /// @notice A whole group was reverted; its authorizations stay usable.
    event GroupFailed(uint256 indexed group, bytes4 why);

    error NotEnoughGas();
    error NotASplit();
    error PayerIsPayTo();
    error LengthMismatch();
    error BalanceMismatch(uint256 expected, uint256 actual);

    constructor() {
        IMPLEMENTATION = address(new LegSplit());
    }

    /// @notice The address that must receive for these legs: the wallet of a single leg, else the split, deployed or not.
    function splitOf(bytes32[] calldata legs) external view returns (address payTo) {
        bool single = legs.length == 1;
        payTo = single ? Legs.wallet(legs[0]) : _splitOf(legs);
        legs.requireCanonical(address(this), single ? address(0) : payTo);
    }

    /// @notice Settles every group on its own: one that fails leaves a GroupFailed and touches no other. Group g of several
    /// legs gets `gasPerGroup[g]` gas; payments to one wallet are bounded by `authGas` each and need no budget of their own.
    /// When the gas cannot be given, everything reverts and nothing is lost.
    function settleBatch(Group[] calldata groups, uint256[] calldata gasPerGroup) external {
        if (groups.length != gasPerGroup.length) revert LengthMismatch();
        for (uint256 g = 0; g < groups.length; ++g) {
            Group calldata group = groups[g];
            bytes4 why = group.legs.length == 1 ? _tryWallet(g, group) : _trySplit(g, group, gasPerGroup[g]);
            if (why != OK) emit GroupFailed(g, why);
        }
    }

    /// @notice Pulls the payments of a group one by one (a failing one leaves an ItemFailed), then pays each leg once.
    /// Reverts, moving nothing, when a leg cannot be paid or the token did not move what it said.
    /// @param index Number of the group, for events only.
    /// @return pulled Sum of the values moved; 0 when every payment failed.
    function settleGroup(uint256 index, Group calldata group) external returns (uint256 pulled) {
        if (group.legs.length == 1) {
            if (!_isPayable(group)) revert Legs.NotCanonical(0);
            return _pull(index, group, Legs.wallet(group.legs[0]), 0, new uint256[](0));
        }
        address payTo = _splitOf(group.legs);
        IERC20 token = IERC20(group.token);
        uint256 expected = token.balanceOf(payTo);
        uint256[] memory amounts = new uint256[](group.legs.length);
        pulled = _pull(index, group, payTo, group.legs.totalWeight(group.token), amounts);
        if (pulled == 0) return 0;
        expected += pulled;
        uint256 actual = token.balanceOf(payTo);
        if (actual != expected) revert BalanceMismatch(expected, actual);
        _push(payTo, token, group.legs, amounts);
        emit Paid(payTo, address(token), pulled);
    }

    /// @notice Pays whatever a split holds of a token to its authors, by the rule of one payment. Anyone may call it, any
    /// time; deploys the split if need be. A balance of 0 is no error. One leg of weight 1 pays what waits for that wallet
    /// (`waitingOf`).
    function flushAll(IERC20 token, bytes32[] calldata legs) external returns (uint256 total) {
        if (legs.length == 0 || (legs.length == 1 && Legs.weight(legs[0]) != 1)) revert NotASplit();
        address payTo;
        uint256[] memory amounts;
        (payTo, total, amounts) = _lying(token, legs);
        if (total == 0) return 0;
        _push(payTo, token, legs, amounts);
        emit Paid(payTo, address(token), total);
    }

    /// @notice The same for a split of which the token refuses to pay some author: the others are paid, and that author's part
    /// moves to `waitingOf` his wallet, which pays nobody else. Nobody can make a part wait that the token would pay: each
    /// payment gets `LEG_GAS`, or everything reverts. While the token moves nothing at all, everything reverts too.
    function flushAround(IERC20 token, bytes32[] calldata legs) external returns (uint256 total) {
        if (legs.length < 2) revert NotASplit();
        address payTo;
        uint256[] memory amounts;
        (payTo, total, amounts) = _lying(token, legs);
        if (total == 0) return 0;
        _deploy(payTo, legs);
        bytes32[] memory leg = new bytes32[](1);
        uint256[] memory amount = new uint256[](1);
        for (uint256 i = 0; i < legs.length; ++i) {
            if (amounts[i] == 0) continue;
            leg[0] = legs[i];
            amount[0] = amounts[i];
            (bool paid, ) = _call(payTo, LEG_GAS, abi.encodeCall(LegSplit.push, (token, leg, amount)));
            if (paid) continue;
            leg[0] = bytes32(uint256(uint160(_waitingOf(Legs.wallet(legs[i])))));
            LegSplit(payTo).push(token, leg, amount);
        }
        emit Paid(payTo, address(token), total);
    }

    /// @notice Where the parts of a wallet wait that the token refused to pay it: the split of that wallet alone, weight 1.
    function waitingOf(address wallet) external view returns (address) {
        return _waitingOf(wallet);
    }

    function _waitingOf(address wallet) private view returns (address) {
        bytes32 leg = bytes32((uint256(1) << 160) | uint160(wallet));
        return Clones.predictDeterministicAddress(IMPLEMENTATION, keccak256(abi.encodePacked(leg)));
    }

    /// @dev What a split holds of a token, and each leg's part of it.
    function _lying(
        IERC20 token,
        bytes32[] calldata legs
    ) private view returns (address payTo, uint256 total, uint256[] memory amounts) {
        payTo = _splitOf(legs);
        total = token.balanceOf(payTo);
        amounts = new uint256[](legs.length);
        if (total != 0) legs.share(legs.totalWeight(address(token)), total, amounts);
    }

    function _splitOf(bytes32[] calldata legs) private view returns (address) {
        return Clones.predictDeterministicAddress(IMPLEMENTATION, legs.salt());
    }

    /// @dev Payments to one wallet: nothing to share out, so each stands alone and none can undo another.
    function _tryWallet(uint256 index, Group calldata group) private returns (bytes4 why) {
        if (!_isPayable(group)) return Legs.NotCanonical.selector;
        _pull(index, group, Legs.wallet(group.legs[0]), 0, new uint256[](0));
        return OK;
    }

    /// @dev A group of several legs is all or nothing, hence a call of its own.
    function _trySplit(uint256 index, Group calldata group, uint256 gasLimit) private returns (bytes4 why) {
        uint256 mark = _markMemory();
        bool ok;
        (ok, why) = _call(address(this), gasLimit, abi.encodeCall(this.settleGroup, (index, group)));
        _releaseMemory(mark);
        if (!ok && why == OK) why = OUT_OF_GAS;
    }

    /// @dev True when the only leg is one that may be paid, in a token that exists.
    function _isPayable(Group calldata group) private view returns (bool) {
        bytes32 leg = group.legs[0];
        address wallet = Legs.wallet(leg);
        bool refused = wallet == address(0) || wallet == address(this) || wallet == group.token;
        return !refused && Legs.weight(leg) != 0 && group.token.code.length != 0;
    }

    function _pull(
        uint256 index,
        Group calldata group,
        address payTo,
        uint256 totalWeight,
        uint256[] memory amounts
    ) private returns (uint256 pulled) {
        uint256 mark = _markMemory();
        for (uint256 k = 0; k < group.auths.length; ++k) {
            Auth calldata auth = group.auths[k];
            (bool ok, bytes4 why) = _transfer(group.token, group.authGas, payTo, auth);
            _releaseMemory(mark);
            if (!ok) {
                emit ItemFailed(index, k, why);
                continue;
            }
            pulled += auth.value;
            if (amounts.length != 0) group.legs.share(totalWeight, auth.value, amounts);
        }
    }

    function _transfer(
        address token,
        uint256 authGas,
        address payTo,
        Auth calldata auth
    ) private returns (bool ok, bytes4 why) {
        // A transfer to oneself moves nothing and would make the group's balance difference wrong.
        if (auth.from == payTo) return (false, PayerIsPayTo.selector);
        bytes memory data = abi.encodeCall(
            IERC3009.transferWithAuthorization,
            (auth.from, payTo, auth.value, auth.validAfter, auth.validBefore, auth.nonce, auth.signature)
        );
        return _call(token, authGas, data);
    }

    /// @dev A split is deployed only here, and only for canonical legs: one that has code needs no second check.
    function _deploy(address payTo, bytes32[] calldata legs) private {
        if (payTo.code.length != 0) return;
        legs.requireCanonical(address(this), payTo);
        Clones.cloneDeterministic(IMPLEMENTATION, legs.salt());
    }

    function _push(address payTo, IERC20 token, bytes32[] calldata legs, uint256[] memory amounts) private {
        _deploy(payTo, legs);
        LegSplit(payTo).push(token, legs, amounts);
    }

    /// @dev Calls with exactly `gasLimit` gas, or reverts NotEnoughGas: the EVM would silently pass on less. Copies at most 4
    /// bytes of what comes back, so that no callee can make us pay for its answer.
    function _call(address target, uint256 gasLimit, bytes memory data) private returns (bool ok, bytes4 why) {
        uint256 available = gasleft();
        if (available - available / 64 < gasLimit + RESERVE_GAS) revert NotEnoughGas();
        assembly ("memory-safe") {
            mstore(0x00, 0)
            ok := call(gasLimit, target, 0, add(data, 0x20), mload(data), 0x00, 0x04)
            why := mul(iszero(ok), mload(0x00))
        }
    }

    /// @dev Call data of one item or group is not needed by the next: memory is reused, not grown.
    function _markMemory() private pure returns (uint256 mark) {
        assembly ("memory-safe") {
            mark := mload(0x40)
        }
    }

    function _releaseMemory(uint256 mark) private pure {
        assembly ("memory-safe") {
            mstore(0x40, mark)
        }
    }
}

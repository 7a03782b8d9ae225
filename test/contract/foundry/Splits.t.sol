// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SplitRouter} from "../../../contracts/SplitRouter.sol";
import {TestUSDC} from "../../../contracts/test/TestUSDC.sol";

/// @dev What forge offers to tests.
interface Vm {
    function addr(uint256 key) external pure returns (address);
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function warp(uint256 timestamp) external;
}

/// @notice Everything that anybody can do to two splits which share an author, in any order. What each author is due is added up here by the
/// rule of legs alone: floor for each but the first, who takes the rest.
contract Everybody {
    Vm private constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 private constant PAYER_KEY = 0xb0b;
    uint256 private constant AUTHORS = 4;
    /// @dev What suffices for three authors: `flushAroundGas` of platform/chain/gas/gas.ts gives that and a transaction's own gas.
    uint256 private constant ENOUGH_GAS = 500_000;

    SplitRouter public immutable router = new SplitRouter();
    TestUSDC public immutable token = new TestUSDC();
    address private immutable PAYER = VM.addr(PAYER_KEY);
    address[AUTHORS] public authors;
    mapping(address author => uint256) public due;
    mapping(uint256 split => uint256) public lying;
    uint256 private nonce;

    constructor() {
        for (uint256 i = 0; i < AUTHORS; ++i) authors[i] = address(uint160(0xA0000 + i));
        VM.warp(1_000_000);
    }

    /// @notice The legs of a split, in canonical order: authors 0, 1 and 2 by 5 : 3 : 3, or 2 and 3 by 7 : 2.
    function legsOf(uint256 split) public view returns (bytes32[] memory legs) {
        if (split % 2 == 0) {
            legs = new bytes32[](3);
            legs[0] = _leg(authors[0], 5);
            legs[1] = _leg(authors[1], 3);
            legs[2] = _leg(authors[2], 3);
        } else {
            legs = new bytes32[](2);
            legs[0] = _leg(authors[2], 7);
            legs[1] = _leg(authors[3], 2);
        }
    }

    function addressOf(uint256 split) public view returns (address) {
        return router.splitOf(legsOf(split));
    }

    function gift(uint256 split, uint256 value) external {
        value %= 1_000_000;
        token.mint(addressOf(split), value);
        lying[split % 2] += value;
    }

    function refuse(uint256 author, bool isRefused) external {
        address wallet = authors[author % AUTHORS];
        if (isRefused) token.blacklist(wallet);
        else token.unBlacklist(wallet);
    }

    /// @notice A batch of one group: up to three payments, the last of which may be shown twice.
    function settle(uint256 split, uint256 count, uint256 value, bool isTwice) external {
        bytes32[] memory legs = legsOf(split);
        count = 1 + (count % 3);
        SplitRouter.Group[] memory groups = new SplitRouter.Group[](1);
        groups[0] = SplitRouter.Group(address(token), 300_000, legs, new SplitRouter.Auth[](isTwice ? count + 1 : count));
        uint256[] memory values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            values[i] = 1 + ((value >> (16 * i)) % 50_000);
            groups[0].auths[i] = _signed(addressOf(split), values[i]);
        }
        if (isTwice) groups[0].auths[count] = groups[0].auths[count - 1];
        uint256[] memory gasPerGroup = new uint256[](1);
        gasPerGroup[0] = 5_000_000;
        uint256 before = token.balanceOf(PAYER);
        router.settleBatch(groups, gasPerGroup);
        if (token.balanceOf(PAYER) == before) return;
        for (uint256 i = 0; i < count; ++i) _owe(legs, values[i]);
    }

    function flushAll(uint256 split) external {
        try router.flushAll(IERC20(address(token)), legsOf(split)) returns (uint256 total) {
            _paysOut(split, total);
        } catch {
            require(_isAnyRefused(split), "a flush of authors who can be paid reverts");
        }
    }

    /// @notice Whatever gas a stranger gives it: all is paid out, or nothing.
    function flushAround(uint256 split, uint256 gasLimit) external {
        gasLimit = 60_000 + (gasLimit % 900_000);
        try router.flushAround{gas: gasLimit}(IERC20(address(token)), legsOf(split)) returns (uint256 total) {
            _paysOut(split, total);
            for (uint256 i = 0; i < legsOf(split).length; ++i) {
                address wallet = address(uint160(uint256(legsOf(split)[i])));
                if (!token.isBlacklisted(wallet)) collect(wallet);
            }
        } catch {
            require(gasLimit < ENOUGH_GAS, "a flush around refused authors reverts");
        }
    }

    function collectOf(uint256 author) external {
        collect(authors[author % AUTHORS]);
    }

    /// @notice What waits for a wallet is paid unless the token refuses it.
    function collect(address wallet) public {
        bytes32[] memory leg = new bytes32[](1);
        leg[0] = _leg(wallet, 1);
        try router.flushAll(IERC20(address(token)), leg) {} catch {
            require(token.isBlacklisted(wallet), "what waits cannot be collected");
        }
    }

    function _isAnyRefused(uint256 split) private view returns (bool) {
        bytes32[] memory legs = legsOf(split);
        for (uint256 i = 0; i < legs.length; ++i) if (token.isBlacklisted(address(uint160(uint256(legs[i]))))) return true;
        return false;
    }

    function _paysOut(uint256 split, uint256 total) private {
        require(total == lying[split % 2], "a flush pays what lies there");
        lying[split % 2] = 0;
        _owe(legsOf(split), total);
    }

    function _owe(bytes32[] memory legs, uint256 value) private {
        uint256 weights = 0;
        for (uint256 i = 0; i < legs.length; ++i) weights += uint256(legs[i]) >> 160;
        uint256 rest = value;
        for (uint256 i = 1; i < legs.length; ++i) {
            uint256 part = (value * (uint256(legs[i]) >> 160)) / weights;
            due[address(uint160(uint256(legs[i])))] += part;
            rest -= part;
        }
        due[address(uint160(uint256(legs[0])))] += rest;
    }

    function _signed(address to, uint256 value) private returns (SplitRouter.Auth memory auth) {
        token.mint(PAYER, value);
        bytes32 id = bytes32(++nonce);
        bytes32 message = keccak256(
            abi.encode(token.TRANSFER_WITH_AUTHORIZATION_TYPEHASH(), PAYER, to, value, 0, type(uint256).max, id)
        );
        (uint8 v, bytes32 r, bytes32 s) = VM.sign(
            PAYER_KEY,
            keccak256(abi.encodePacked(hex"1901", token.DOMAIN_SEPARATOR(), message))
        );
        return SplitRouter.Auth(PAYER, value, 0, type(uint256).max, id, abi.encodePacked(r, s, v));
    }

    function _leg(address wallet, uint256 weight) private pure returns (bytes32) {
        return bytes32((weight << 160) | uint160(wallet));
    }
}

contract SplitsTest {
    Everybody private everybody;

    function setUp() external {
        everybody = new Everybody();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(everybody);
    }

    /// @notice Each author has, or is owed at the place where his parts wait, exactly his parts.
    function invariant_authorsHaveTheirParts() external view {
        for (uint256 i = 0; i < 4; ++i) {
            address wallet = everybody.authors(i);
            uint256 waiting = everybody.token().balanceOf(everybody.router().waitingOf(wallet));
            require(everybody.token().balanceOf(wallet) + waiting == everybody.due(wallet), "an author has another sum than his parts");
        }
    }

    /// @notice A split holds what was sent past the router, and the router nothing.
    function invariant_nothingIsKept() external view {
        for (uint256 split = 0; split < 2; ++split) {
            require(everybody.token().balanceOf(everybody.addressOf(split)) == everybody.lying(split), "a split holds another sum");
        }
        require(everybody.token().balanceOf(address(everybody.router())) == 0, "the router holds money");
    }
}

// @ts-check
/// <reference path="./assay.d.ts" />
"use strict";

// A small solver that earns: it trades tokens on Uniswap V2, directly or through
// WETH, whichever gives more.

const ROUTER = "0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D";
const WETH = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";

// ---- calldata ----

const APPROVE = "0x095ea7b3"; // approve(address,uint256)
const SWAP = "0x38ed1739"; // swapExactTokensForTokens(uint256,uint256,address[],address,uint256)
const QUOTE = "0xd06ca61f"; // getAmountsOut(uint256,address[])

/** @param {bigint | number | string} value an integer or an address */
const word = (value) => BigInt(value).toString(16).padStart(64, "0");

/** @param {string[]} items */
const array = (items) => word(items.length) + items.map(word).join("");

// ---- intents ----

/**
 * @param {assay.State} state
 * @param {string} name
 */
function param(state, name) {
  const value = state.raw_params[name];
  if (typeof value !== "string") throw new Error("the intent has no " + name);
  return value;
}

/**
 * What a path pays for an amount; 0 where there is no such path.
 * @param {number} chain
 * @param {string} amount
 * @param {string[]} path
 */
async function amountOut(chain, amount, path) {
  try {
    const data = await ethCall(chain, ROUTER, QUOTE + word(amount) + word(64) + array(path));
    return BigInt("0x" + data.slice(-64)); // the last of the amounts
  } catch (error) {
    console.debug(path.join(" > "), error);
    return 0n;
  }
}

/** @param {assay.State} state */
async function bestPath(state) {
  const tokenIn = param(state, "input_token"), tokenOut = param(state, "output_token");
  const amount = param(state, "input_amount");
  const paths = [[tokenIn, tokenOut]];
  if (!paths[0].some((token) => BigInt(token) === BigInt(WETH))) paths.push([tokenIn, WETH, tokenOut]);

  let best = { path: paths[0], out: 0n };
  for (const path of paths) {
    const out = await amountOut(state.chain_id, amount, path);
    if (out > best.out) best = { path, out };
  }
  if (best.out === 0n) throw new Error("no pair for " + tokenIn + " and " + tokenOut);
  return best;
}

/** @type {assay.Solver} */
const solver = {
  metadata: { name: "v2-js", version: "0.1.0", author: "me" },

  initialize(config) {
    console.log("chains", config.chain_ids);
  },

  async generatePlan(intent, state, snapshot, intentId) {
    const { path, out } = await bestPath(state);
    const least = BigInt(param(state, "min_output_amount"));
    if (out < least) throw new Error("the best path pays " + out + ", the intent wants " + least);

    const amount = param(state, "input_amount");
    const deadline = Math.floor(Date.now() / 1000) + 300; // the clock stands at the pinned block
    /**
     * @param {string} target
     * @param {string} call_data
     */
    const call = (target, call_data) => ({ target, value: "0", call_data, chain_id: state.chain_id });
    const head = word(amount) + word(least) + word(160) + word(param(state, "receiver")) + word(deadline);
    return {
      intent_id: intentId,
      nonce: state.nonce,
      deadline,
      interactions: [
        call(path[0], APPROVE + word(ROUTER) + word(0)), // some tokens change an allowance only from zero
        call(path[0], APPROVE + word(ROUTER) + word(amount)),
        call(ROUTER, SWAP + head + array(path)),
      ],
    };
  },

  async quote(intent, state) {
    const { path, out } = await bestPath(state);
    return { estimated_output: out, route_summary: path.join(" > ") };
  },
};

module.exports = solver;

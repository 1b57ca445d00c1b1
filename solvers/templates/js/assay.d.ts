// What a solver in JavaScript sees and what it answers. The engine is QuickJS
// (ES2023, without Intl, Atomics, modules, timers, DOM and Node); everything in
// the language's library is there, and beyond it the globals at the end of this
// file.

declare namespace assay {
  /** The program: `module.exports`. Any method may be async. */
  interface Solver {
    /** Who this is. Called once, after initialize. */
    metadata: Metadata | (() => Awaitable<Metadata>);
    /** Called once, before everything else. A throw refuses the solver. */
    initialize(config: InitConfig): Awaitable<void>;
    /** Answers one intent. A throw costs this intent and leaves the others alone. */
    generatePlan(intent: Definition, state: State, snapshot: MarketSnapshot | null, intentId: string): Awaitable<Plan>;
    /** Prices an intent; asked only where the app's manifest has a quote. Costs nothing if it fails. */
    quote?(intent: Definition, state: State, snapshot: MarketSnapshot | null, intentId: string): Awaitable<Quote>;
    /** Whether an auto-triggered intent executes now. Without it none ever does. */
    checkTrigger?(intent: Definition, state: State, snapshot: MarketSnapshot | null, intentId: string): Awaitable<boolean>;
    /**
     * Hears of each chain's market before a batch; snapshot is then null in the
     * calls for intents of that chain. Without it snapshot is set in each.
     */
    setMarket?(snapshot: MarketSnapshot): Awaitable<void>;
    onBenchmarkStart?(intentCount: number): Awaitable<void>;
    onBenchmarkEnd?(results: Result[]): Awaitable<void>;
    /** The exact bytes that serializeState gave in the last epoch; not called without any. */
    restoreState?(state: Uint8Array): Awaitable<void>;
    /** What to remember: at most 50 MiB; a string is kept as UTF-8. */
    serializeState?(): Awaitable<string | ArrayBuffer | ArrayBufferView | null | undefined>;
  }

  type Awaitable<T> = T | PromiseLike<T>;

  /** An integer of any size as decimal digits. */
  type Decimal = string;
  /** 0x and 40 hex digits. */
  type Address = string;
  /** 0x and an even number of hex digits. */
  type Hex = string;
  /** Anything that JSON can say. */
  type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

  // ---- what comes in ----
  // Later versions may add fields.

  interface InitConfig {
    chain_ids: number[];
    /** By chain id; the URLs say nothing that a solver needs. */
    rpc_urls: Record<string, string>;
    timeout_per_plan_ms: number;
    supported_protocols: string[];
  }

  /** An app: what its intents mean. */
  interface Definition {
    app_id: string;
    name: string;
    version: string;
    intent_type: string;
    config: Config;
    deployer: string;
    description: string;
    manifest?: Manifest;
    constructor_args?: Json[];
    schema_id?: string;
    policy_metadata?: Record<string, Json>;
    contract_version?: string;
    registration_status?: string;
  }

  interface Config {
    supported_chains: number[];
    score_threshold: number;
    /** Basis points. */
    on_chain_threshold: number;
    trigger_type: string;
    /** Gas for a whole plan. */
    max_gas: number;
    policy_tier: string;
    supported_policy_tiers: string[];
    manifest_version: string;
    fee_mode: string;
  }

  interface Manifest {
    app_name?: string;
    manifest_version?: string;
    intent_functions?: {
      name: string;
      description?: string;
      trigger_type?: string;
      params?: {
        name: string;
        type: string;
        description?: string;
        source?: string;
        quote_field?: string;
        default?: Json;
        in_signature?: boolean;
      }[];
      example_params?: Record<string, Json>;
      scoring_hints?: Record<string, Json>;
    }[];
    /** How the value of a plan is measured: the net receipt of a token by an account. */
    value?: { token: string; account: string; minimum?: string };
    quote?: Record<string, string>;
    plan_metadata?: boolean;
    supported_chains?: number[];
    default_policy_tier?: string;
    supported_policy_tiers?: string[];
    /** Intents to try the app with. fund: base units by token. */
    benchmark_scenarios?: {
      name: string;
      description?: string;
      chains?: number[];
      intent_function: string;
      fund?: Record<string, string>;
      params: Record<string, Json>;
    }[];
  }

  /** One intent of an app on one chain. */
  interface State {
    contract_address: string;
    chain_id: number;
    /** The intent's, not the account's. */
    nonce: number;
    owner: Address;
    raw_params: Record<string, Json>;
    control: Record<string, Json>;
    /** raw_params and control in one. */
    extra?: Record<string, Json>;
    context_version?: string;
    policy_tier?: string;
    typed_context?: Json;
  }

  /** A chain's market at the pinned block. */
  interface MarketSnapshot {
    chain_id: number;
    block_number: number;
    /** Unix seconds. */
    timestamp: number;
    prices: Record<string, number>;
    pool_states: Record<string, Record<string, Json>>;
    balances: Record<string, Decimal>;
    dex_config: Record<string, Json>;
    raw_state: Record<string, Json>;
  }

  interface Result {
    intent_id: string;
    /** In [0,1]. */
    score: number;
    elapsed_ms: number;
  }

  // ---- what goes out ----
  // A bigint leaves as its decimal digits. A field that isn't here makes the
  // answer bad_output. The names' camelCase forms are accepted as well.

  interface Plan {
    /** The request's intent id, or the app's id. */
    intent_id: string;
    /** Calls in order, all or nothing; 1 to 64. */
    interactions: Interaction[];
    /** Unix seconds, after the pinned block's time. */
    deadline: number;
    /** The state's. */
    nonce: number;
    metadata?: Record<string, unknown>;
  }

  interface Interaction {
    target: Address;
    /** Wei. */
    value: Decimal | bigint;
    call_data: Hex;
    /** The state's; 1 if it is left out. */
    chain_id?: number;
  }

  interface Quote {
    /** Base units. */
    estimated_output: Decimal | bigint;
    computed_params?: Record<string, string>;
    route_summary?: string;
    gas_estimate?: number;
    metadata?: Record<string, unknown>;
    platform_fee_wei?: Decimal | bigint;
    platform_fee_token?: string;
    platform_fee_symbol?: string;
  }

  interface Metadata {
    /** At most 64 characters. */
    name: string;
    /** A semantic version such as 1.0.0. */
    version: string;
    author: string;
    description?: string;
    supported_chains?: number[];
    supported_intent_types?: string[];
  }
}

// ---- globals ----

/**
 * The program's only way out: assign a Solver to module.exports. There is no
 * require and no import. `exports` is module.exports, as ever.
 */
declare const module: { exports: assay.Solver };
declare const exports: Partial<assay.Solver>;

/** The session's log, at most 64 KiB a call: objects are written as JSON. */
declare const console: {
  debug(...values: unknown[]): void;
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
};

declare const global: typeof globalThis;

/**
 * Sends one JSON-RPC request to a chain's pinned world and gives its result.
 * Rejects with "RPC error: …" if the chain says no, and with the method's name
 * and the reason if the chain is unknown, the call's budget of reads is spent or
 * the reply is too large.
 */
declare function rpc(chainId: number | bigint | string, method: string, params: unknown[]): Promise<any>;

/** eth_call from the zero address. Every block tag means the pinned block. */
declare function ethCall(chainId: number | bigint | string, to: assay.Address, data: assay.Hex, blockTag?: string): Promise<assay.Hex>;

/** The pinned block's number. */
declare function ethBlockNumber(chainId: number | bigint | string): Promise<number>;

/** There is no network: it always rejects. */
declare function httpGet(url: string): Promise<never>;

// Date.now() is the pinned block's time and stands still. Math.random() is seeded.

/** What clients of the contract rely on, and no catalog may pass. */
export interface ContractLimits {
  /** What an IATA code looks like. */
  readonly iata: RegExp;
  /** Length of the protobuf message of one locale. */
  readonly messageMaxBytes: number;
}

/**
 * The limits of every published catalog. gRPC clients refuse messages over 4 MiB by default; 3.5
 * leave room to act before they do.
 */
export const CONTRACT_LIMITS: ContractLimits = {
  iata: /^[A-Z]{3}$/,
  messageMaxBytes: 3.5 * 1024 * 1024,
};

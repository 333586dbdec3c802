export interface AuditedChange {
  readonly position: bigint;
  /** Kind of change: the resource and the past tense of a verb, such as `coupon.updated`. */
  readonly action: string;
  readonly objectId: string;
  /** Values before and after the change, by field. Null if they are missing or damaged in the database. */
  readonly fields: object | null;
}

export interface AuditHead {
  readonly id: string;
  readonly createdAt: Date;
  readonly actorType: string;
  readonly actorId: string;
  /** `operationId` of the request; null for commands and background work. */
  readonly operation: string | null;
  readonly requestId: string | null;
  readonly address: string | null;
}

export interface AuditEntry extends AuditHead {
  /** The first 100 changes, by position. */
  readonly changes: readonly AuditedChange[];
  readonly changeCount: number;
}

export interface ExportedChange extends AuditHead {
  readonly change: AuditedChange;
}

export interface AuditFilter {
  readonly actorId: string | null;
  readonly operation: string | null;
  readonly objectId: string | null;
  /** Earliest time of the entries, inclusive; null: no limit. */
  readonly from: Date | null;
  /** Latest time of the entries, exclusive; null: no limit. */
  readonly to: Date | null;
}

export interface UsageCount {
  readonly actorType: string;
  readonly actorId: string;
  readonly operation: string;
  readonly hour: Date;
  readonly requestCount: bigint;
}

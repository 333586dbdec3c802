import type fc from 'fast-check';
import type { Answer, EngineCatalog } from '../engine-catalog';
import type { Reference } from '../model';

/** The engine that commands test. Each sequence of commands has one customer, on a test clock of its own. */
export interface EngineUnderTest {
  /** Subscription ids, in the order of the reference. */
  readonly subscriptionIds: string[];
  readonly customerId: string;
  readonly currency: string;
  readonly clockId: string;
  readonly meterId: string;
  readonly catalog: EngineCatalog;
  post(path: string, body: object): Promise<Answer>;
  patch(path: string, body: object): Promise<Answer>;
  remove(path: string): Promise<Answer>;
  get(path: string): Promise<object>;
  /** Returns the id of an invoice by its index among all, oldest first. */
  invoiceId(place: number): Promise<string>;
  paymentId(place: number): Promise<string>;
  refundId(place: number): Promise<string>;
  noteId(place: number): Promise<string>;
  /** Returns all ids, oldest first. */
  refundIds(): Promise<readonly string[]>;
  noteIds(): Promise<readonly string[]>;
}

export type BillingCommand = fc.AsyncCommand<Reference, EngineUnderTest>;

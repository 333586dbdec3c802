import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The numbers of a series, without a gap: the row is locked from taking one to the commit that uses it. */
@Entity('invoice_series')
@Check('invoice_series_next_check', '"next_number" >= 1')
export class InvoiceSeriesEntity {
  @PrimaryColumn({ type: 'varchar', length: 40 }) readonly name!: string;
  @Column({ type: 'bigint' }) readonly nextNumber!: string;
}

-- The table holds the position of each job that sweeps over a large table. "sweeps" is the word the code uses.

alter table cell.walks rename to sweeps;
alter table cell.sweeps rename constraint walks_pkey to sweeps_pkey;

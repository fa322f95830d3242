package main

// numbers are the constants by name. Times of calls are in µs of a core, of idleness in µs of a core per
// second, of people in s; sizes are in bytes or KiB as the constants' file says.
type numbers struct {
	// Of one Redis: the whole process, what it does for the ledger's drain included.
	redisJoin, redisLeave, redisHandoff, redisCode, redisReconnect                          float64
	redisDeliver, redisBus, redisSnapshotPlace                                              float64
	redisIdleWaiter, redisIdleRoom, redisIdleIndex                                          float64
	redisWaiterBytes, redisRoomBytes, redisOutcomeBytes, redisLeaseBytes, redisRequestBytes float64

	// Of one replica.
	replicaJoin, replicaLeave, replicaHandoff, replicaCode, replicaReconnect float64
	replicaFrame, replicaEvent, replicaIdleWaiter, replicaIdleRoom           float64
	replicaSocketKiB, replicaRoomKiB, replicaBaseMiB, replicaTicketBytes     float64
	frameBytes                                                               float64

	// Of the database.
	dbJoin, dbLeave, dbHandoff, dbCode                     float64
	dbJoinBytes, dbLeaveBytes, dbHandoffBytes, dbCodeBytes float64

	// People's habits.
	hold, patience, reconnectEvery, codes float64

	// The load that a machine may carry, and the limits of products.
	redisFull, replicaFull, dbFull, dbCores, dbCoreGiB, replicaSockets, replicaConnections, redisClients,
	clusterMasters, coalesce, front, linger, outcomeFor, leaseFor, requestFor float64
}

type field struct {
	name string
	at   *float64
}

// fields returns the names that the constants' file uses.
func (n *numbers) fields() []field {
	return []field{
		{"redis_us_join", &n.redisJoin}, {"redis_us_leave", &n.redisLeave}, {"redis_us_handoff", &n.redisHandoff},
		{"redis_us_code", &n.redisCode}, {"redis_us_reconnect", &n.redisReconnect},
		{"redis_us_deliver", &n.redisDeliver},
		{"redis_us_bus", &n.redisBus}, {"redis_us_snapshot_place", &n.redisSnapshotPlace},
		{"redis_us_s_idle_waiter", &n.redisIdleWaiter}, {"redis_us_s_idle_room", &n.redisIdleRoom},
		{"redis_us_s_idle_index", &n.redisIdleIndex},
		{"redis_b_waiter", &n.redisWaiterBytes}, {"redis_b_room", &n.redisRoomBytes},
		{"redis_b_outcome", &n.redisOutcomeBytes},
		{"redis_b_lease", &n.redisLeaseBytes}, {"redis_b_request", &n.redisRequestBytes},
		{"replica_us_join", &n.replicaJoin}, {"replica_us_leave", &n.replicaLeave},
		{"replica_us_handoff", &n.replicaHandoff},
		{"replica_us_code", &n.replicaCode}, {"replica_us_reconnect", &n.replicaReconnect},
		{"replica_us_frame", &n.replicaFrame},
		{"replica_us_event", &n.replicaEvent}, {"replica_us_s_idle_waiter", &n.replicaIdleWaiter},
		{"replica_us_s_idle_room", &n.replicaIdleRoom},
		{"replica_kib_socket", &n.replicaSocketKiB}, {"replica_kib_room", &n.replicaRoomKiB},
		{"replica_mib_base", &n.replicaBaseMiB},
		{"replica_b_ticket", &n.replicaTicketBytes}, {"frame_b", &n.frameBytes},
		{"db_us_join", &n.dbJoin}, {"db_us_leave", &n.dbLeave}, {"db_us_handoff", &n.dbHandoff},
		{"db_us_code", &n.dbCode},
		{"db_b_join", &n.dbJoinBytes}, {"db_b_leave", &n.dbLeaveBytes}, {"db_b_handoff", &n.dbHandoffBytes},
		{"db_b_code", &n.dbCodeBytes},
		{"hold_s", &n.hold}, {"patience_s", &n.patience}, {"reconnect_every_s", &n.reconnectEvery},
		{"codes_per_turn", &n.codes},
		{"redis_full", &n.redisFull}, {"replica_full", &n.replicaFull}, {"db_full", &n.dbFull},
		{"db_cores", &n.dbCores}, {"db_gib_core", &n.dbCoreGiB}, {"replica_sockets", &n.replicaSockets},
		{"replica_connections", &n.replicaConnections}, {"redis_clients", &n.redisClients},
		{"cluster_masters", &n.clusterMasters},
		{"coalesce_s", &n.coalesce}, {"front", &n.front}, {"linger_s", &n.linger}, {"outcome_s", &n.outcomeFor},
		{"lease_s", &n.leaseFor}, {"request_s", &n.requestFor},
	}
}
